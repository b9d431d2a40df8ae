// Enhances the error page. The page works without it.

// Makes the link absolute, because the server may not know its public origin.
const markdown = document.querySelector('#copy-markdown')
if (markdown) {
  markdown.value = markdown.value.replace(/\n(\/[^\n]*)$/, (_, path) => `\n${location.origin}${path}`)
  markdown.setSelectionRange(0, 0)
}
