import { createHash } from 'node:crypto'
import type { LogErrorInput } from '../fields.js'
import { namedError } from './named-error.js'

/** `process.report`, including properties that older type definitions lack. */
interface ReportSettings {
  directory: string
  filename: string
  reportOnFatalError: boolean
  reportOnSignal: boolean
  reportOnUncaughtException: boolean
  excludeNetwork?: boolean
}

/**
 * Makes Node.js write a diagnostic report into the folder on a fatal error. Does nothing if the host has its own
 * settings. Returns the function that restores the settings.
 */
export function writeFatalReports(folder: string): () => void {
  const report = process.report as unknown as ReportSettings | undefined
  if (!report || isConfigured(report)) return () => undefined
  const { directory, reportOnFatalError, excludeNetwork } = report
  report.directory = folder
  report.reportOnFatalError = true
  // Otherwise Node.js resolves the names of all peers one by one, which delays the exit.
  if (excludeNetwork === false) report.excludeNetwork = true
  return () => {
    if (report.directory !== folder) return
    report.directory = directory
    report.reportOnFatalError = reportOnFatalError
    if (excludeNetwork === false) report.excludeNetwork = false
  }
}

function isConfigured(report: ReportSettings): boolean {
  const { directory, filename, reportOnFatalError, reportOnSignal, reportOnUncaughtException } = report
  return directory !== '' || filename !== '' || reportOnFatalError || reportOnSignal || reportOnUncaughtException
}

const REPORT_NAME = /^report\.\d+\.\d+\.(\d+)\.\d+\.\d+\.json$/

/** Process id of a diagnostic report by its file name; null for other files. */
export function reportPid(name: string): number | null {
  const pid = REPORT_NAME.exec(name)?.[1]
  return pid === undefined ? null : Number(pid)
}

export interface FatalReport {
  error: Error
  fields: Omit<LogErrorInput, 'exception'>
}

/**
 * Reads a fatal error from a diagnostic report; null if it was written for another reason. Copies only known fields:
 * the report also contains all environment variables and the command line.
 */
export function readFatalReport(text: string): FatalReport | null {
  const { header, javascriptStack, nativeStack, javascriptHeap, resourceUsage } = JSON.parse(text) as ReportContent
  if (!/^(OOMError|FatalError)$/.test(header.trigger)) return null
  const isOutOfMemory = header.trigger === 'OOMError' || /out of memory/i.test(header.event)
  const script = stackStrings(javascriptStack?.stack).filter((line) => line.startsWith('at '))
  const native = nativeFrames(nativeStack).map(({ symbol }) => `at ${String(symbol).trim()} (native)`)
  return {
    error: namedError(isOutOfMemory ? 'OutOfMemory' : 'FatalError', String(header.event), [...script, ...native]),
    fields: {
      severity: 'critical',
      source: 'diagnostic_report',
      unhandled: true,
      occurred_at: Number(header.dumpEventTimeStamp),
      context: {
        crashed_process: { pid: header.processId, node_version: header.nodejsVersion, thread_id: header.threadId },
        heap: pickNumbers(javascriptHeap, ['usedMemory', 'totalMemory', 'memoryLimit', 'externalMemory']),
        resources: pickNumbers(resourceUsage, ['rss', 'maxRss', 'free_memory', 'total_memory', 'constrained_memory']),
      },
    },
  }
}

interface ReportContent {
  header: {
    event: unknown
    trigger: string
    dumpEventTimeStamp: unknown
    processId: unknown
    threadId: unknown
    nodejsVersion: unknown
  } & { event: string }
  javascriptStack?: { stack?: unknown }
  nativeStack?: unknown
  javascriptHeap?: Record<string, unknown>
  resourceUsage?: Record<string, unknown>
}

function stackStrings(stack: unknown): string[] {
  return Array.isArray(stack) ? stack.map((line) => String(line).trim()) : []
}

function nativeFrames(stack: unknown): { symbol?: unknown }[] {
  return Array.isArray(stack) ? stack.slice(0, MAX_NATIVE_FRAMES) : []
}

const MAX_NATIVE_FRAMES = 30

function pickNumbers(values: Record<string, unknown> | undefined, names: readonly string[]): Record<string, number> {
  const numbers: Record<string, number> = {}
  for (const name of names) {
    const value = values?.[name]
    if (typeof value === 'number') numbers[name] = value
  }
  return numbers
}

/** Deterministic batch id of a crash, so that reading its files twice records it once. */
export function crashId(trace: string): string {
  const hash = createHash('sha256').update(trace).digest('hex')
  return [hash.slice(0, 8), hash.slice(8, 12), hash.slice(12, 16), hash.slice(16, 20), hash.slice(20, 32)].join('-')
}
