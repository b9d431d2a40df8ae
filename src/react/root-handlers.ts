import type { BrowserClient } from '../browser/client.js'
import { fromReact } from './component-stack.js'

/** As React hands it over; which fields there are depends on the handler. */
interface RootErrorInfo {
  componentStack?: string | undefined
}

type Handler = (error: unknown, info: RootErrorInfo) => void

export interface RootHandlers {
  onCaughtError: Handler
  onUncaughtError: Handler
  onRecoverableError: Handler
}

/**
 * The handlers of a root of React 19, for errors that no boundary of ours sees. Each does what React does without it, too.
 *
 * @example
 * createRoot(element, rootHandlers(client)).render(<App />)
 */
export function rootHandlers(client: Pick<BrowserClient, 'report'>): RootHandlers {
  const reporting =
    (usual: (error: unknown) => void): Handler =>
    (error, info) => {
      client.report(error, fromReact(info))
      usual(error)
    }
  return {
    onCaughtError: reporting((error) => console.error(error)),
    onUncaughtError: reporting(tellThePage),
    onRecoverableError: reporting(tellThePage),
  }
}

function tellThePage(error: unknown): void {
  // Older browsers have no such function.
  if (typeof reportError === 'function') reportError(error)
  else console.error(error)
}
