import type { BrowserClient } from '../client.js'
import { componentDetails } from './component-stack.js'

/** Argument of React's handlers; the fields depend on the handler. */
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
 * Handlers for a React 19 root, for errors outside of our boundaries. Each handler keeps React's default behavior.
 * @example createRoot(element, rootHandlers(client)).render(<App />)
 */
export function rootHandlers(client: Pick<BrowserClient, 'report'>): RootHandlers {
  const report: Handler = (error, info) => client.report(error, componentDetails(info))
  const reportAndPrint: Handler = (error, info) => {
    report(error, info)
    console.error(error)
  }
  const reportToPage: Handler = (error, info) => {
    // The client also receives the page's error event. It deduplicates objects, but not strings.
    if (Object(error) === error) report(error, info)
    reportError(error)
  }
  // Older browsers lack this function.
  const onUncaught = typeof reportError === 'function' ? reportToPage : reportAndPrint
  return { onCaughtError: reportAndPrint, onUncaughtError: onUncaught, onRecoverableError: onUncaught }
}
