// Loads more source lines and pending Git history without a page load.
const fetchPage = async (url) => {
  const response = await fetch(url, { headers: { Accept: 'text/html' } })
  return response.ok ? new DOMParser().parseFromString(await response.text(), 'text/html') : null
}

document.addEventListener('click', async (event) => {
  const link = event.target.closest?.('a.frame-more')
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return
  event.preventDefault()
  const id = link.hash.slice(1)
  const page = await fetchPage(link.href).catch(() => null)
  const lines = page?.getElementById(id)
  const other = page?.querySelector(`a.frame-more[href$="#${id}"]`)
  if (!lines || !other) {
    location.assign(link.href)
    return
  }
  document.getElementById(id).replaceWith(lines)
  link.replaceWith(other)
  other.focus()
})

const RETRY_DELAYS_MS = [500, 1000, 2000, 4000]
const pending = () => document.querySelectorAll('.frame-author[data-pending]')

async function loadPendingHistory() {
  for (const delay of RETRY_DELAYS_MS) {
    if (pending().length === 0) return
    await new Promise((resolve) => setTimeout(resolve, delay))
    const page = await fetchPage(location.href).catch(() => null)
    for (const element of pending()) showHistory(element, page?.getElementById(element.id))
  }
}

function showHistory(element, loaded) {
  if (!loaded) return
  const tools = element.parentElement.querySelector('.frame-tools')
  const link = loaded.parentElement.querySelector('.frame-link')
  // Keeps the toolbar, so that focus and hover are not lost.
  if (link && !tools.querySelector('.frame-link')) tools.querySelector('[hidden]').before(link)
  element.replaceWith(loaded)
}

loadPendingHistory()
document.addEventListener('content-replaced', loadPendingHistory)
