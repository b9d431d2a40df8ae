import { CONNECT } from './connections.mjs'

const SUMS = [
  ['faultboard_errors', 'occurrence_count'],
  ['faultboard_error_hours', 'count'],
  ['faultboard_application_hours', 'count'],
  ['faultboard_error_users', 'count'],
]
const MAX_OCCURRENCES_PER_GROUP = 1000

/** Throws unless every sum in the database equals the input and all rows within the limits exist. */
export async function checkExact(dialect, url, events, label) {
  const connection = await CONNECT[dialect](url)
  try {
    const quote = dialect === 'mysql' ? '`' : '"'
    for (const [table, column] of SUMS) {
      const [{ total }] = await connection.all(`select sum(${quote}${column}${quote}) as total from ${table}`)
      if (Number(total) !== events) throw new Error(`${label}: ${table} contains ${total} of ${events} errors`)
    }
    const incompleteGroups = await connection.all(
      `select e.id from faultboard_errors e where (select count(*) from faultboard_occurrences o where o.error_id = e.id) < case when e.occurrence_count < ${MAX_OCCURRENCES_PER_GROUP} then e.occurrence_count else ${MAX_OCCURRENCES_PER_GROUP} end`,
    )
    if (incompleteGroups.length > 0) throw new Error(`${label}: ${incompleteGroups.length} groups lack occurrence rows`)
    const [{ orphans }] = await connection.all(
      'select count(*) as orphans from faultboard_occurrences where payload_id not in (select id from faultboard_payloads)',
    )
    if (Number(orphans) > 0) throw new Error(`${label}: ${orphans} occurrences have no payload`)
  } finally {
    await connection.close()
  }
}
