import type { LineEdit } from './file-change.js'
import type { Plan } from './framework.js'
import type { Host } from './host.js'
import type { SourceFile } from './source-file.js'
import { typescriptHands } from './typescript.js'

/** The plan for the first file of a host in which the application is found. */
export function firstPlan(host: Host, name: string, editsOf: (file: SourceFile) => LineEdit[] | null): Plan | null {
  const present = host.files.filter(hasAdapter).map(({ path }) => path)
  if (present.length > 0) return { found: `${name} in ${present[0]}`, changes: [], present, by_hand: [] }
  for (const file of host.files) {
    const edits = file.masked === null ? null : editsOf(file)
    if (!edits || wouldMoveMark(file, edits)) continue
    const change = { path: file.path, before: file.source, edits }
    return {
      found: `${name} in ${file.path}`,
      changes: [change],
      present: [],
      by_hand: typescriptHands(host, file.path),
    }
  }
  return null
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
