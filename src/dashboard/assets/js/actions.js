// Runs actions without a page load. Sends the form and replaces the content with the content of the response.
document.addEventListener('submit', async (event) => {
  const { target: form, submitter } = event
  if (event.defaultPrevented || !form.matches('form[data-in-place]')) return
  event.preventDefault()
  if (form.dataset.sending !== undefined) return
  form.dataset.sending = ''
  const page = await send(form, submitter).catch(() => null)
  delete form.dataset.sending
  const content = page?.body.querySelector('#content')
  if (content) replaceContent(content, page, form.closest('details.menu')?.id)
  else showFailure()
})

async function send(form, submitter) {
  const body = new URLSearchParams(new FormData(form, submitter))
  const response = await fetch(form.action, { method: 'POST', body, headers: { Accept: 'text/html' } })
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  // Keeps the URL after a rejected action, because its error page has no URL.
  if (response.redirected) history.replaceState(history.state, '', response.url)
  return page
}

function replaceContent(content, page, menuId) {
  document.querySelector('#content').replaceWith(content)
  document.title = page.title
  document.dispatchEvent(new CustomEvent('content-replaced'))
  announce(content.querySelector('.notice > p')?.textContent)
  // Restores the focus, because the form that had the focus was replaced.
  const menu = menuId && content.querySelector(`#${menuId} > summary`)
  ;(menu || content).focus({ preventScroll: true })
}

function showFailure() {
  const notice = document.createElement('p')
  notice.className = 'notice failed'
  notice.textContent = 'No connection to the server. Reload the page to see whether the action was performed.'
  document.querySelector('#content').prepend(notice)
  announce(notice.textContent)
}

function announce(text) {
  if (text) document.querySelector('#announcer').textContent = text
}
