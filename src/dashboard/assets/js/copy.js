// Copies the text of another element, or the JSON at an address. Without a secure address the clipboard is closed to
// scripts, and the old way is left.
for (const button of document.querySelectorAll('button[data-copy], button[data-copy-json]')) {
  button.hidden = false
  button.addEventListener('click', async () => {
    const text = await textFor(button.dataset)
    if (text === null) said(button, 'Not there')
    else said(button, (await copied(text)) ? 'Copied' : 'Press Ctrl+C')
  })
}

async function textFor({ copy, copyJson }) {
  if (copyJson === undefined) {
    const source = document.getElementById(copy)
    return source && (source.value ?? source.textContent).trim()
  }
  try {
    const answer = await fetch(copyJson)
    return answer.ok ? JSON.stringify(await answer.json(), null, 2) : null
  } catch {
    // The host is away, or sent something else.
    return null
  }
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copiedByHand(text)
  }
}

function copiedByHand(text) {
  const field = document.createElement('textarea')
  field.value = text
  field.className = 'hidden'
  document.body.append(field)
  field.select()
  const done = document.execCommand('copy')
  field.remove()
  return done
}

function said(button, words) {
  const label = button.querySelector('span')
  const before = button.dataset.label ?? label.textContent
  button.dataset.label = before
  label.textContent = words
  document.querySelector('#announcer').textContent = words
  clearTimeout(Number(button.dataset.timer))
  button.dataset.timer = setTimeout(() => {
    label.textContent = before
  }, 1500)
}
