// The kernel asks for this file. But python.js, which has begun before, is all it needs.
