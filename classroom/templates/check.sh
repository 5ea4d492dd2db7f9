#!/bin/sh
# Checks all exercises that are filled in; succeeds once all exercises of every chapter
# that was begun are right. Any server that runs a script at a push can run this one.
# For one chapter: sh check.sh 4
cd "$(dirname "$0")" || exit 2
exec python3 course.py check "$@"
