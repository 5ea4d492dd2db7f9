"""The package as of each chapter that builds the engine: it stands, and its lesson runs."""

import ast
import os
import subprocess
import sys

import pytest
from test_assemble import assembled  # noqa: F401
