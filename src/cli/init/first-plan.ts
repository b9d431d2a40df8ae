import type { LineEdit } from './file-change.js'
import type { Plan } from './framework.js'
import type { Host, SourceFile } from './host.js'

/** The plan for the first file of a host in which the application is found. */
export function firstPlan(host: Host, name: string, editsOf: (file: SourceFile) => LineEdit[] | null): Plan | null {
  const present = host.files
    .filter(({ source }) => /['"]faultboard(\/[\w/-]+)?['"]/.test(source))
    .map(({ path }) => path)
  if (present.length > 0) return { found: `${name} in ${present[0]}`, changes: [], present, by_hand: [] }
  for (const file of host.files) {
    const edits = file.masked === null ? null : editsOf(file)
    if (!edits) continue
    const change = { path: file.path, before: file.source, edits }
    return { found: `${name} in ${file.path}`, changes: [change], present: [], by_hand: [] }
  }
  return null
}
