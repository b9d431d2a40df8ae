/** Subset of the bullmq and ioredis APIs in use. The host installs both packages. */
export interface BullModule {
  Queue: new (name: string, options: object) => BullQueue
  Worker: new (name: string, processor: null, options: BullWorkerOptions) => BullWorker
}

export interface BullQueue {
  on(event: 'error', listener: () => void): unknown
  addBulk(jobs: readonly { name: string; data: object; opts: object }[]): Promise<unknown>
  getJobCounts(...states: string[]): Promise<Record<string, number>>
  getFailed(from: number, to: number): Promise<BullJob[]>
}

interface BullWorkerOptions {
  settings: { backoffStrategy(attempt: number, type?: string, error?: Error): number }
  [other: string]: unknown
}

export interface BullWorker {
  on(event: 'error', listener: () => void): unknown
  getNextJob(token: string, options: { block: boolean }): Promise<BullJob | undefined>
  moveStalledJobsToWait(): Promise<void>
}

export interface BullJob {
  id?: string
  name: string
  data: Record<string, unknown>
  attemptsMade: number
  opts: { attempts?: number }
  failedReason?: string
  finishedOn?: number
  /** Set when too many workers died while running the job. */
  deferredFailure?: string
  extendLock(token: string, duration: number): Promise<unknown>
  moveToCompleted(value: unknown, token: string, fetchNext: boolean): Promise<unknown>
  moveToFailed(error: Error, token: string, fetchNext: boolean): Promise<unknown>
  moveToDelayed(timestamp: number, token: string): Promise<unknown>
  moveToWait(token: string): Promise<unknown>
}

export type RedisModule = new (
  url: string,
  options: object,
) => {
  on(event: 'error' | 'end', listener: () => void): unknown
  connect(): Promise<void>
  disconnect(): void
  duplicate(): unknown
  stream?: { unref(): void }
}

/** A failure in the form that BullMQ stores: the reason only, because a stack could contain secrets. */
export class JobFailure extends Error {
  readonly retryDelayMs: number

  constructor(reason: string, retryDelayMs: number | null) {
    super(reason)
    this.retryDelayMs = retryDelayMs ?? 0
    this.stack = ''
    // BullMQ does not retry errors with this name.
    if (retryDelayMs === null) this.name = 'UnrecoverableError'
  }
}
