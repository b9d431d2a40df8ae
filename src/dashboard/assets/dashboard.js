// Comfort only: everything works without this file.
for (const button of document.querySelectorAll('button.danger')) {
  button.addEventListener('click', (event) => {
    if (!window.confirm(`${button.textContent.trim()}? This cannot be undone.`)) event.preventDefault()
  })
}
