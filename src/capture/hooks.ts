import type { Draft } from './draft.js'
import type { Scope } from './scope.js'

/** A warning of Node.js or a library, as emitted by `process`. */
export interface ProcessWarning {
  name: string
  message: string
  code: string | undefined
  /** Reads the stack on demand, because formatting it is expensive. */
  stack(): string
}

interface DraftHook {
  /** Completes "… failed" in the log. */
  readonly name: string
  run(draft: Draft): void
}

/**
 * Extension points of one tracker. Empty unless a diagnostic adds hooks. All hooks run on the hot path and must be
 * fast.
 */
export interface CaptureHooks {
  /** Runs for each error that is reported, before it is described. */
  readonly onReport: ((scope: Scope | undefined) => void)[]
  /** Adds data to an error of this process before the pipeline runs. */
  readonly onDraft: DraftHook[]
  /** Adds data to an error once its signature is known. Skipped for errors without a row of their own. */
  readonly onSigned: DraftHook[]
  /** Runs for each warning of the process, only while `enable_breadcrumbs` is on. */
  readonly onWarning: ((warning: ProcessWarning) => void)[]
}

export function createCaptureHooks(): CaptureHooks {
  return { onReport: [], onDraft: [], onSigned: [], onWarning: [] }
}

/** Adds a hook and returns the function that removes it. */
export function addHook<Hook>(hooks: Hook[], hook: Hook): () => void {
  hooks.push(hook)
  return () => {
    const index = hooks.indexOf(hook)
    if (index >= 0) hooks.splice(index, 1)
  }
}

type StackFilter = (lines: readonly string[]) => readonly string[]

/** Extension points that all trackers of the process share. Can be set before the first tracker starts. */
const processHooks = {
  filterStack: null as StackFilter | null,
  onReport: null as ((thrown: unknown) => void) | null,
}

/** Installs hooks for code that was changed while it was loaded. Only one such instrumentation is supported. */
export function setProcessHooks(hooks: { filterStack: StackFilter; onReport(thrown: unknown): void }): void {
  processHooks.filterStack = hooks.filterStack
  processHooks.onReport = hooks.onReport
}

/** Restores the stack lines of code that was changed while it was loaded. */
export function filterStack(lines: readonly string[]): readonly string[] {
  return processHooks.filterStack ? processHooks.filterStack(lines) : lines
}

export function notifyReported(thrown: unknown): void {
  processHooks.onReport?.(thrown)
}
