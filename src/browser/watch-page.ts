import { shownAddress } from './address.js'
import { shortSelector } from './selector.js'
import type { ClientBreadcrumb, KeptBreadcrumb, Listen } from './types.js'
import { type Undo, wrap } from './wrap.js'

/**
 * Records what the page does as breadcrumbs: clicks, navigation, requests. `add` returns the stored breadcrumb, so
 * that its end can be added.
 */
export function watchPage(add: (crumb: ClientBreadcrumb) => KeptBreadcrumb, listen: Listen, undo: Undo[]): void {
  listen('click', ({ target }: { target: Element }) => add({ category: 'click', message: shortSelector(target) }))

  let here = shownAddress(location)
  const navigated = () => {
    const from = here
    here = shownAddress(location)
    if (from !== here) add({ category: 'navigation', message: `${from} to ${here}` })
  }
  listen('popstate', navigated)

  const begin = (method: unknown, url: unknown) => {
    const crumb = add({ category: 'http', message: `${method || 'GET'} ${shownAddress(url)}` })
    return (status: number) => {
      crumb.duration_ms = Date.now() - crumb.timestamp
      crumb.metadata = { status }
    }
  }

  undo.push(
    wrap(History.prototype, 'pushState', () => navigated),
    wrap(History.prototype, 'replaceState', () => navigated),
    wrap(window, 'fetch', (_: never, [input, init = {}]: [Request, RequestInit?]) => {
      const ended = begin(init.method || input.method, input.url || input)
      // Returns the observed promise: otherwise an unhandled rejection would count as handled.
      return (result: Promise<Response>) =>
        result.then(
          (response) => {
            ended(response.status)
            return response
          },
          (error) => {
            ended(0)
            throw error
          },
        )
    }),
    wrap(XMLHttpRequest.prototype, 'open', (request: XMLHttpRequest, [method, url]: [string, string]) => {
      const ended = begin(method, url)
      request.addEventListener('loadend', () => ended(request.status))
      return undefined
    }),
  )
}
