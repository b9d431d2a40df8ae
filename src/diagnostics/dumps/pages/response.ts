import { plainPagination } from '../../../dashboard/openapi/answers/shared.js'
import {
  list,
  named,
  nullable,
  number,
  object,
  type Schema,
  text,
  time,
  whole,
  word,
} from '../../../dashboard/openapi/schema.js'
import type { DumpSummary, DumpsPage } from '../diagnostic-dump.js'
import { type DumpFile, FILE_KINDS } from '../dump-files.js'

const DUMP = {
  id: whole,
  application_id: whole,
  application_name: text,
  note: nullable(text),
  created_at: time,
  captured_by: nullable(text),
  pid: nullable(whole),
  hostname: nullable(text),
  uptime_s: nullable(number),
  rss_bytes: nullable(whole),
  heap_used_bytes: nullable(whole),
  delay_p99_ms: nullable(number),
  utilisation: nullable(number),
  files: list(object<DumpFile>({ kind: word(FILE_KINDS), name: text, size_bytes: whole, hostname: text })),
}

const dump = named('DumpSummary', object<DumpSummary>(DUMP))

export const dumpsResponse = object<DumpsPage>({ dumps: list(dump), pagination: plainPagination })

/** The sections are not described, because they differ between versions of Node.js. */
export const dumpResponse: Schema<{ dump: unknown }> = {
  json: {
    type: 'object',
    properties: { dump: { ...object<DumpSummary>(DUMP).json, additionalProperties: true } },
    required: ['dump'],
  },
}
