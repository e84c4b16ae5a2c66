"""Prints the template as SAM's own translator makes it for CloudFormation, as JSON: what is deployed is judged, not only what is written.

Usage: .venv-sam/bin/python .ci/translate.py template.yaml
"""

import json
import sys

from samcli.yamlhelper import yaml_parse
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        template = yaml_parse(f.read())
    # A translation asks for code that was uploaded; where it lies is of no interest here.
    template["Globals"]["Function"]["CodeUri"] = "s3://bucket/code.zip"
    # No managed policies to look up: a policy that SAM adds by name would fail here.
    translated = Translator({}, Parser()).translate(template, {})
    json.dump(translated, sys.stdout, indent=1, sort_keys=True, default=str)


main()
