import { tableRow } from './table-row.mjs'

/** Renders docs/configuration.md from the table of options. */
export function configuration({ environmentVariable, GROUPS, OPTION_NAMES, OPTIONS }) {
  const sections = Object.entries(GROUPS).map(([group, title]) => {
    const rows = OPTION_NAMES.filter((name) => OPTIONS[name].group === group).map((name) =>
      optionRow(name, OPTIONS[name], environmentVariable(name)),
    )
    return `## ${title}\n\n| option | value | default | environment | description |\n|---|---|---|---|---|\n${rows.join('\n')}\n`
  })
  return `# Configuration

<!-- Generated from src/config/options.ts by \`npm run docs\`. Do not edit. -->

Set options in code, before the tracker starts:

\`\`\`js
Tracker.configure({ application_name: 'shop', database: 'postgres://app:secret@localhost/shop' })
\`\`\`

Other ways are \`Tracker.configure((config) => { … })\`, environment variables, and \`faultboard.config.{ts,js,mjs}\` for the command
line. Code overrides the environment, and a flag of the command line overrides both. In the environment, separate list items with commas,
and write a mapping as \`chat=low,email=high\`.

All problems are reported together in one \`ConfigurationError\`. The configuration is frozen once the tracker has started:
a change takes effect after a restart. The settings page never shows secrets.

<picture>
  <source media="(prefers-color-scheme: dark)" srcset="https://raw.githubusercontent.com/faultboard/faultboard/HEAD/docs/images/settings-dark.png">
  <img alt="Settings: every option with its value, description and environment variable" src="https://raw.githubusercontent.com/faultboard/faultboard/HEAD/docs/images/settings-light.png">
</picture>

## Names

Names are in snake_case, in this documentation, in JSON and in results. Your code can pass options and arguments of operations
in camelCase. This includes the options of endpoints and subscribers:

\`\`\`js
Tracker.configure({ applicationName: 'shop', severityThresholds: { communityChat: 'high' } })
Tracker.report(error, { userId: 7, context: { orderId: 7 } })
await Tracker.Queries.ErrorsList.call({ appVersion: '1.4.0', perPage: 100 })
\`\`\`

- Keys that you choose, such as those of \`context\` and \`tags\`, are stored unchanged.
- HTTP requests use snake_case only.
- Both spellings of one name in an object are an error, and so is a misspelled option or argument: the message suggests the right name.
- \`Tracker.report\` and \`LogError\` never throw. They use the snake_case value, ignore a misspelled field, and log one warning about it.
- The TypeScript compiler suggests names of options and arguments.

${sections.join('\n')}`
}

function optionRow(name, option, variable) {
  const { kind, text, secret } = option
  return tableRow([
    `\`${name}\``,
    kind.description,
    `\`${JSON.stringify(option.default)}\``,
    variable ? `\`${variable}\`` : 'code only',
    secret ? `${text} (secret)` : text,
  ])
}
