import { isAsMeant } from './as-meant.js'
import type { LineEdit } from './file-change.js'
import type { Plan } from './framework.js'
import type { Host } from './host.js'
import type { SourceFile } from './source-file.js'
import { typescriptHands } from './typescript.js'

/** How a framework is found in files, and what is changed there. */
export interface Finder {
  readonly name: string
  /** Whether a file makes an application, in whatever way. */
  makes(file: SourceFile): boolean
  /** What to change; null where that is not sure. */
  edits(file: SourceFile, host: Host): LineEdit[] | null
}

/** The plan for the first file of a host that makes an application; where that one is not understood, for none. */
export function firstPlan(host: Host, { name, makes, edits }: Finder): Plan | null {
  const present = host.files.filter(hasAdapter).map(({ path }) => path)
  if (present.length > 0) return { found: `${name} in ${present[0]}`, changes: [], present, by_hand: [] }
  const file = host.files.find(makes)
  if (!file || file.masked === null) return null
  const wanted = edits(file, host)
  if (!wanted || wouldMoveMark(file, wanted)) return null
  const change = { path: file.path, before: file.source, edits: wanted }
  if (!isAsMeant(change)) return null
  return { found: `${name} in ${file.path}`, changes: [change], present: [], by_hand: typescriptHands(host, file.path) }
}

/** Whether a file calls what makes an application, or may do so in a way that is not readable here. */
export function callsIn({ source, masked }: SourceFile, call: string | undefined, packageName: string): boolean {
  if (masked === null) return new RegExp(`['"]${packageName}['"]`).test(source)
  const required = new RegExp(`require\\(['"]${packageName}['"]\\)\\s*\\(`).test(source)
  return required || (call !== undefined && new RegExp(`(?<![\\w$.])${call}(?:<[^()]*>)?\\(`).test(masked))
}

const ADAPTER = /['"]faultboard\/(express|fastify|koa|hono|nest|next|h3|nitro|node)['"]/

/** The tracker alone, imported to report by hand, is not in place of an adapter. */
function hasAdapter({ source, masked, statements }: SourceFile): boolean {
  return masked === null ? ADAPTER.test(source) : statements.some(({ text }) => ADAPTER.test(text))
}

/** A byte order mark has to stay in front of everything. */
function wouldMoveMark({ source }: SourceFile, edits: readonly LineEdit[]): boolean {
  return source.startsWith('\uFEFF') && edits.some(({ line, remove }) => line === 0 && remove === 0)
}
