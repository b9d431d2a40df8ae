import type { BrowserClient } from '../client.js'
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
  const report: Handler = (error, info) => client.report(error, fromReact(info))
  const printing: Handler = (error, info) => {
    report(error, info)
    console.error(error)
  }
  const tellingThePage: Handler = (error, info) => {
    // The client hears what the page is told, too. It knows an object again; a text would count twice.
    if (Object(error) === error) report(error, info)
    reportError(error)
  }
  // Older browsers have no such function.
  const uncaught = typeof reportError === 'function' ? tellingThePage : printing
  return { onCaughtError: printing, onUncaughtError: uncaught, onRecoverableError: uncaught }
}
