import { tableRow } from './table-row.mjs'

const HEADINGS = {
  critical: ['Critical', 'Out of memory, a full or failing disk, no file descriptors, a lost datastore.'],
  medium: ['Medium', 'Timeouts, aborted or refused connections, DNS, TLS, validation.'],
  high: ['High', 'Programming errors.'],
  low: ['Low', 'Everything else.'],
}

/** Renders docs/severity.md from the table that the tests grade. */
export function severity({ SEVERITY_TABLE }) {
  const sections = Object.entries(HEADINGS).map(([name, [title, text]]) => {
    const rows = SEVERITY_TABLE.filter((kind) => kind.severity === name).map(kindRow)
    return `### ${title}\n\n${text}\n\n| source | when | type | code, cause or message |\n|---|---|---|---|\n${rows.join('\n')}\n`
  })
  return `# Severity

<!-- Generated from test/model/severity/severity-table.ts by \`npm run docs\`. Do not edit. -->

Set the severity of a type of error with a rule, or of one error:

\`\`\`js
Tracker.configure({ custom_severity_rules: [[/^Payment/, 'critical']] })
Tracker.report(error, { severity: 'low' })
\`\`\`

The severity of an occurrence is determined in this order:

1. The \`severity\` passed with the error.
2. The first of [\`custom_severity_rules\`](extending.md) that matches the type.
3. The first built-in rule that matches the type or the \`code\` of the error or of one of its causes: critical, then medium,
   then high. Otherwise low.

Two minimums then apply to the result of the built-in rules. They never change an explicit severity or that of your own rules:

- An error that made a request fail with a 5xx response is at least **medium**. The status is the one that the framework
  derives from the error (\`status\`, \`statusCode\`), then in Express and Fastify an error status that the handler had set,
  otherwise 500. Your own error handler runs later, so a different status that it sends counts in Hono only.
- An error that escaped every handler (\`unhandled\`) is at least **high**.

The severity of an **error** is the highest severity of its occurrences since it was created or last reopened. When an error
is reopened by a new occurrence, it starts again with the severity of that occurrence. An error that a user reopens keeps its
severity. A late occurrence from before the last resolution does not change it.

## Lost datastores

A failed connection to a datastore is critical. It is recognized by one of these:

- the class or code of the driver, such as \`PrismaClientInitializationError\` or \`53300\`;
- the first frame of the stack outside of Node.js, when it belongs to a driver or ORM (pg, postgres, mysql2, mariadb, mongodb,
  redis, ioredis, mssql, Prisma, Sequelize, TypeORM, Knex, Drizzle and others);
- the property \`fatal\`, which mysql2 sets when a connection is lost;
- the default port of a datastore in the message of a refused connection (\`connect ECONNREFUSED 127.0.0.1:5432\`), because
  Node.js reports it without any frame of the driver.

A rejected sign-in and an exhausted connection pool count as lost too. Every other failed connection is medium.

## Error kinds

The tests grade each of these ${SEVERITY_TABLE.length} kinds.

${sections.join('\n')}`
}

function kindRow({ source, when, error_type, code, cause, errors, message }) {
  const innerError = cause ?? errors?.[0]
  const marks = [
    code !== undefined && `\`${code}\``,
    innerError && `${cause ? 'cause' : 'of'} \`${innerError.code ?? innerError.error_type}\``,
  ].filter(Boolean)
  return tableRow([source, when, `\`${error_type}\``, marks.length > 0 ? marks.join(', ') : escapeMarkdown(message)])
}

/** Escapes Markdown, because a message can contain backticks. */
function escapeMarkdown(message) {
  return message.replace(/[\\`*_<>[\]]/g, '\\$&')
}
