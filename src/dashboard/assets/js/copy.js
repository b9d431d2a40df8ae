// Copies the text of another element, or the JSON at a URL. Outside secure contexts, the Clipboard API is unavailable
// and execCommand is the fallback.
document.addEventListener('click', async (event) => {
  const button = event.target.closest?.('button[data-copy], button[data-copy-json]')
  if (!button) return
  const text = await textFor(button.dataset)
  if (text === null) showResult(button, 'Unavailable')
  else showResult(button, (await copyText(text)) ? 'Copied' : 'Press Ctrl+C')
})

async function textFor({ copy, copyJson }) {
  if (copyJson === undefined) {
    const source = document.getElementById(copy)
    return source && (source.value ?? source.textContent).trim()
  }
  try {
    const response = await fetch(copyJson)
    return response.ok ? JSON.stringify(await response.json(), null, 2) : null
  } catch {
    // The host is unreachable or returned no JSON.
    return null
  }
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyWithCommand(text)
  }
}

function copyWithCommand(text) {
  const field = document.createElement('textarea')
  field.value = text
  field.className = 'hidden'
  document.body.append(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  return isCopied
}

function showResult(button, message) {
  const label = button.querySelector('span')
  const before = button.dataset.label ?? label.textContent
  button.dataset.label = before
  label.textContent = message
  document.querySelector('#announcer').textContent = message
  clearTimeout(Number(button.dataset.timer))
  button.dataset.timer = setTimeout(() => {
    label.textContent = before
  }, 1500)
}
