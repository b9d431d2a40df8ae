import type { RequestListener } from 'node:http'
import type { TrackerInstance } from '../../src/tracker.js'

/**
 * How the host of the contract is built:
 * - `own_handler`: it answers errors in its own way (any status and body), in the framework's usual place for that;
 * - `default_handler`: it has no error handler, the framework answers (in production mode, where that shows no stack);
 * - `failing_handler`: its own error handler throws `new Error('the handler is broken')`;
 * - `parser`: as `own_handler`, and bodies are parsed before Faultboard sees the request;
 * - `headers`: as `own_handler`, and HOST_HEADERS are on every answer, set as the framework's helmet does it;
 * - `wrapped`: as `own_handler`, and responses are compressed before they leave, for instance with `compress`;
 * - `prefix`: as `own_handler`, and the dashboard is mounted by a router, plugin or sub-application below /admin.
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

/** The ways to fail that the host has a route for. */
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

/** How a framework builds the host of the contract. */
export interface AdapterHarness {
  name: string
  /**
   * A host with dashboard and capture; for null, the very same host without Faultboard. Its routes are ROUTES and
   * - GET /middleware: a middleware or hook before the route throws `new Error('broken')`;
   * - GET /passed: `new Error('broken')`, or the framework's own error of status 500 with that message, is passed on
   *   in the framework's way (`next(error)`, `reply.send(error)`, `ctx.throw`);
   * - GET /stream: the answer is `failingStream()`, sent in the framework's way.
   * Every request is that of the user `{ id: 7 }`, who stands where the framework's sign-in middlewares put him.
   */
  host(tracker: TrackerInstance | null, variant: Variant): BuiltHost | Promise<BuiltHost>
  /** The pattern of the route of GET /orders/8 as the framework spells it; null where it has no patterns. */
  route?: string | null
  /** False where the framework has forgotten what it read from the path when an error comes to the adapter. */
  params?: boolean
  /** The user who is found; null where the framework has no usual place for one. */
  user_id?: string | null
  /** Faults that no adapter can see in this framework, each with the reason. */
  unseen?: Partial<Record<Fault, string>>
  /** For hosts without any error handling but that of the process: what they do there. */
  onProcessError?: (error: unknown, event: string) => void
  /** Variants that do not exist in this framework, each with the reason. */
  lacks?: Partial<Record<Variant, string>>
}

export type BuiltHost = RequestListener | { listener: RequestListener; close(): unknown }
