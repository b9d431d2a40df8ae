import { safeUrl } from './address.js'
import type { ClientBreadcrumb, Listen, StoredBreadcrumb } from './types.js'
import { type Undo, wrap } from './wrap.js'

/**
 * Records clicks, navigation and requests of the page as breadcrumbs. `add` returns the stored breadcrumb, so that the
 * duration and status can be added later.
 */
export function watchPage(add: (crumb: ClientBreadcrumb) => StoredBreadcrumb, listen: Listen, undo: Undo[]): void {
  listen('click', ({ target }: { target: Element }) => add({ category: 'click', message: shortSelector(target) }))

  let currentUrl = safeUrl(location)
  const recordNavigation = () => {
    const previousUrl = currentUrl
    currentUrl = safeUrl(location)
    if (previousUrl !== currentUrl) add({ category: 'navigation', message: `${previousUrl} to ${currentUrl}` })
  }
  listen('popstate', recordNavigation)

  const startRequest = (method: unknown, url: unknown) => {
    const crumb = add({ category: 'http', message: `${method || 'GET'} ${safeUrl(url)}` })
    return (status: number) => {
      crumb.duration_ms = Date.now() - crumb.timestamp
      crumb.metadata = { status }
    }
  }

  undo.push(
    wrap(History.prototype, 'pushState', () => recordNavigation),
    wrap(History.prototype, 'replaceState', () => recordNavigation),
    wrap(window, 'fetch', (_: never, [input, init = {}]: [Request, RequestInit?]) => {
      const finishRequest = startRequest(init.method || input.method, input.url || input)
      // Returns the observed promise: otherwise an unhandled rejection would count as handled.
      return (result: Promise<Response>) =>
        result.then(
          (response) => {
            finishRequest(response.status)
            return response
          },
          (error) => {
            finishRequest(0)
            throw error
          },
        )
    }),
    wrap(XMLHttpRequest.prototype, 'open', (request: XMLHttpRequest, [method, url]: [string, string]) => {
      const finishRequest = startRequest(method, url)
      request.addEventListener('loadend', () => finishRequest(request.status))
      return undefined
    }),
  )
}

/** Short selector of an element without any user input: `form#pay > div.row > button.primary`. */
function shortSelector(element: Element | null): string {
  const selectors: string[] = []
  for (let ancestor = element; ancestor && !selectors[2]; ancestor = ancestor.parentElement) {
    const { localName, id, classList } = ancestor
    selectors.unshift(localName + (id && `#${id}`) + ['', ...classList].slice(0, 3).join('.'))
  }
  return selectors.join(' > ')
}
