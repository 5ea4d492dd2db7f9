#!/bin/sh
# Checks all exercises that are filled in. It succeeds once all exercises of every chapter
# that was begun are right. Any server that runs a script on a push can run this script.
# For one chapter: sh check.sh 4
cd "$(dirname "$0")" || exit 2
exec python3 course.py check "$@"
