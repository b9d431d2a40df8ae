// Comfort for the source of frames: more lines without a new page, and what git tells late without a new visit.
const parsed = async (address) => {
  const answer = await fetch(address, { headers: { Accept: 'text/html' } })
  return answer.ok ? new DOMParser().parseFromString(await answer.text(), 'text/html') : null
}

document.addEventListener('click', async (event) => {
  const link = event.target.closest?.('a.frame-more')
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return
  event.preventDefault()
  const id = link.hash.slice(1)
  const page = await parsed(link.href).catch(() => null)
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

const PAUSES_MS = [500, 1000, 2000, 4000]
const pending = () => document.querySelectorAll('.frame-author[data-pending]')

async function askAgain() {
  for (const pause of PAUSES_MS) {
    if (pending().length === 0) return
    await new Promise((resume) => setTimeout(resume, pause))
    const page = await parsed(location.href).catch(() => null)
    for (const waiting of pending()) tell(waiting, page?.getElementById(waiting.id))
  }
}

function tell(waiting, known) {
  if (!known) return
  const tools = waiting.parentElement.querySelector('.frame-tools')
  const link = known.parentElement.querySelector('.frame-link')
  // The tools themselves stay: somebody may be about to use one.
  if (link && !tools.querySelector('.frame-link')) tools.querySelector('[hidden]').before(link)
  waiting.replaceWith(known)
}

askAgain()
