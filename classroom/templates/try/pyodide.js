// The kernel asks for this file, but needs only python.js, which has begun before.
