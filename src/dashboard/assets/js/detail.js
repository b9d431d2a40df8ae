// Enhances the error page. The page works without it.
completeLinks()
document.addEventListener('content-replaced', completeLinks)

/** Makes links absolute, because the server may not know its public origin. */
function completeLinks() {
  const link = document.querySelector('#error-link')
  if (link?.textContent.startsWith('/')) link.textContent = location.origin + link.textContent
  const markdown = document.querySelector('#copy-markdown')
  if (!markdown) return
  markdown.value = markdown.value.replace(/\n(\/[^\n]*)$/, (_, path) => `\n${location.origin}${path}`)
  markdown.setSelectionRange(0, 0)
}

// Shows only the known names that contain the typed text.
document.addEventListener('input', ({ target: { dataset, value } }) => {
  if (!dataset.filters) return
  for (const button of document.getElementById(dataset.filters)?.children ?? [])
    button.hidden = !button.value.toLowerCase().includes(value.trim().toLowerCase())
})
