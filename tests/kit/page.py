"""What tests ask of a page in HTML."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """Collects what a test asks of a page: elements, ids, links and whether tags are balanced."""

    VOID = frozenset({"meta", "br", "link", "img", "hr", "input"})

    def __init__(self, text):
        super().__init__()
        self.open = []
        self.tags = []
        self.ids = []
        self.links = []
        self.sources = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name == "href":
                self.links.append(value)
            if name in {"src", "srcset", "action", "data"} or name.startswith("on"):
                self.sources.append((tag, name, value))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
