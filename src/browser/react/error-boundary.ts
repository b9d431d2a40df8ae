import { Component, type ErrorInfo, type ReactNode } from 'react'
import type { BrowserClient } from '../client.js'
import { fromReact } from './component-stack.js'

export { rootHandlers } from './root-handlers.js'

export interface FallbackProps {
  error: unknown
  /** Shows the children again. */
  reset(): void
}

export interface ErrorBoundaryProps {
  /** What `start` of `faultboard/browser` gave. */
  client: Pick<BrowserClient, 'report'>
  /** What is shown in place of children that failed. Left out: nothing. */
  fallback?: ReactNode | ((props: FallbackProps) => ReactNode)
  children?: ReactNode
}

interface State {
  caught: { error: unknown } | null
}

/**
 * Reports what its children throw while they render, with the components it came through, and shows something else.
 *
 * @example
 * <ErrorBoundary client={client} fallback={({ reset }) => <button onClick={reset}>Try again</button>}>
 */
export class ErrorBoundary extends Component<ErrorBoundaryProps, State> {
  static getDerivedStateFromError(error: unknown): State {
    return { caught: { error } }
  }

  override state: State = { caught: null }

  readonly reset = () => this.setState({ caught: null })

  override componentDidCatch(error: unknown, info: ErrorInfo): void {
    this.props.client.report(error, fromReact(info))
  }

  override render(): ReactNode {
    const { children, fallback = null } = this.props
    const { caught } = this.state
    if (!caught) return children
    return typeof fallback === 'function' ? fallback({ error: caught.error, reset: this.reset }) : fallback
  }
}
