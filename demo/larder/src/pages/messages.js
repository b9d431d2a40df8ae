import { html, layout } from './layout.js'

export function notFoundPage() {
  const content = html`<p>This page does not exist. <a href="/">Back to the shop</a></p>`
  return { status: 404, page: layout('Not found', content) }
}

/** Page of a request that failed. */
export function failedPage(error, { dashboard_path }) {
  return layout(
    'Something went wrong',
    html`<p><code>${String(error)}</code></p>
    <p>The error was recorded: see it in the <a href="${dashboard_path}/errors">dashboard</a>, or go
      <a href="/">back to the shop</a>.</p>`,
  )
}
