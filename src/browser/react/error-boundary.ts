import { Component, type ErrorInfo, type ReactNode } from 'react'
import type { BrowserClient } from '../client.js'
import { componentDetails } from './component-stack.js'

export { rootHandlers } from './root-handlers.js'

export interface FallbackProps {
  error: unknown
  /** Renders the children again. */
  reset(): void
}

export interface ErrorBoundaryProps {
  /** Return value of `start` from `faultboard/browser`. */
  client: Pick<BrowserClient, 'report'>
  /** Content to render instead of failed children. Default: nothing. */
  fallback?: ReactNode | ((props: FallbackProps) => ReactNode)
  children?: ReactNode
}

interface State {
  caught: { error: unknown } | null
}

/**
 * Reports errors that its children throw while rendering, with their component stack, and renders a fallback.
 * @example <ErrorBoundary client={client} fallback={({ reset }) => <button onClick={reset}>Try again</button>}>
 */
export class ErrorBoundary extends Component<ErrorBoundaryProps, State> {
  static getDerivedStateFromError(error: unknown): State {
    return { caught: { error } }
  }

  override state: State = { caught: null }

  readonly reset = () => this.setState({ caught: null })

  override componentDidCatch(error: unknown, info: ErrorInfo): void {
    this.props.client.report(error, componentDetails(info))
  }

  override render(): ReactNode {
    const { children, fallback = null } = this.props
    const { caught } = this.state
    if (!caught) return children
    return typeof fallback === 'function' ? fallback({ error: caught.error, reset: this.reset }) : fallback
  }
}
