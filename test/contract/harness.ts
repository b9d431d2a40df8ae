import type { RequestListener } from 'node:http'
import type { TrackerInstance } from '../../src/tracker.js'

/**
 * Variants of the contract host:
 * - `own_handler`: has its own error handler with any status and body;
 * - `default_handler`: has no error handler, so the framework responds (in production mode, without a stack);
 * - `failing_handler`: has an error handler that throws `new Error('the error handler failed')`;
 * - `parser`: like `own_handler`, and parses bodies before Faultboard receives the request;
 * - `headers`: like `own_handler`, and sets HOST_HEADERS on every response, as helmet does;
 * - `wrapped`: like `own_handler`, and compresses responses, for instance with `compress`;
 * - `prefix`: like `own_handler`, and mounts the dashboard below /admin with a router, plugin or sub-application.
 */
export type Variant = (typeof VARIANTS)[number]

export const VARIANTS = [
  'own_handler',
  'default_handler',
  'failing_handler',
  'parser',
  'headers',
  'wrapped',
  'prefix',
] as const

/** Routes of the host that fail. */
export type Fault =
  | '/sync'
  | '/async'
  | '/awaited'
  | '/middleware'
  | '/passed'
  | '/stream'
  | '/string'
  | '/null'
  | '/undefined'
  | '/timer'
  | '/floating'

/** Builds the contract host with one framework. */
export interface AdapterHarness {
  name: string
  /**
   * Returns a host with dashboard and capture, or the same host without Faultboard for null. Its routes are ROUTES and
   * - GET /middleware: a middleware or hook before the route throws `new Error('broken')`;
   * - GET /passed: passes on `new Error('broken')`, or the framework's own error with status 500 and that message, with
   *   `next(error)`, `reply.send(error)` or `ctx.throw`;
   * - GET /stream: responds with `failingStream()`.
   * Every request has the user `{ id: 7 }`, stored where sign-in middlewares of the framework store it.
   */
  createHost(tracker: TrackerInstance | null, variant: Variant): BuiltHost | Promise<BuiltHost>
  /** Route pattern of GET /orders/8 in the syntax of the framework. Null if it has no patterns. */
  route?: string | null
  /** False if path parameters are not available when the adapter receives an error. */
  params?: boolean
  /** Detected user. Null if the framework has no standard place for the user. */
  user_id?: string | null
  /** Faults that no adapter can capture in this framework, with the reason. */
  undetectedFaults?: Partial<Record<Fault, string>>
  /** Reason why the adapter receives normalized paths only: `/x/../y` as `/y`. The host receives the same path. */
  normalizedPaths?: string
  /** Reads a header of the request that `authenticate` receives. */
  readHeader?: (request: never, name: string) => unknown
  /** Process error handler of hosts without other error handling. */
  onProcessError?: (error: unknown, event: string) => void
  /** Variants that do not exist in this framework, with the reason. */
  unsupportedVariants?: Partial<Record<Variant, string>>
}

export type BuiltHost = RequestListener | { listener: RequestListener; close(): unknown }
