// Comfort for the page of one error: everything works without this file.

// The server does not always know the name under which it is reached; the browser does.
const markdown = document.querySelector('#copy-markdown')
if (markdown) {
  markdown.value = markdown.value.replace(/\n(\/[^\n]*)$/, (_, path) => `\n${location.origin}${path}`)
  markdown.setSelectionRange(0, 0)
}
