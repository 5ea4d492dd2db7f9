"""What a later chapter builds has its name here already, and says so when used."""


class Later:
    """A name that a later chapter gives a meaning to."""

    def __init__(self, name, chapter):
        self.__dict__.update(name=name, chapter=chapter)

    def say(self, *args, **kwargs):
        raise NotImplementedError(f"{self.name} is built in chapter {self.chapter}")

    def __call__(self, *args, **kwargs):
        if kwargs or args and not callable(args[0]):
            self.say()
        return self.say if args else self  # what it decorates says so, too

    __bool__ = __enter__ = __iter__ = say

    def __exit__(self, *exception):
        pass

    def __getattr__(self, name):
        raise AttributeError(f"{self.name} is built in chapter {self.chapter}")
