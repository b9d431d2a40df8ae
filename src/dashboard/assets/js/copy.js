// Copies the text of another element. Without a secure address the clipboard is closed to scripts, and the old way is left.
for (const button of document.querySelectorAll('button[data-copy]')) {
  button.hidden = false
  button.addEventListener('click', async () => {
    const source = document.getElementById(button.dataset.copy)
    if (!source) return
    const done = await copied(source)
    said(button, done ? 'Copied' : 'Press Ctrl+C')
  })
}

async function copied(source) {
  const text = (source.value ?? source.textContent).trim()
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
