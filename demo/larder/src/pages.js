class Markup {
  constructor(text) {
    this.text = text
  }
}

/** Template tag for HTML. Escapes every value that is not HTML itself. */
export function html(texts, ...values) {
  return new Markup(texts.map((text, i) => text + (i < values.length ? toText(values[i]) : '')).join(''))
}

function toText(value) {
  if (value instanceof Markup) return value.text
  if (Array.isArray(value)) return value.map(toText).join('')
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

export function layout(title, content) {
  return html`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>${title} · Larder</title>
  <link rel="stylesheet" href="/style.css">
</head>
<body>
  <header><a href="/">Larder</a></header>
  <main>
    <h1>${title}</h1>
    ${content}
  </main>
</body>
</html>`
}

export function money(cents) {
  return `€${(cents / 100).toFixed(2)}`
}

export function notFoundPage() {
  const content = html`<p>This page does not exist. <a href="/">Back to the shop</a></p>`
  return { status: 404, page: layout('Not found', content) }
}

/** Error page for a failed request. */
export function errorPage(error, { dashboard_path }) {
  return layout(
    'Something went wrong',
    html`<p><code>${String(error)}</code></p>
    <p>The error was recorded: see it in the <a href="${dashboard_path}/errors">dashboard</a>, or go
      <a href="/">back to the shop</a>.</p>`,
  )
}
