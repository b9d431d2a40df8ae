import { tableRow } from './table-row.mjs'

/** docs/configuration.md, from the table of options. */
export function configuration({ environmentVariable, GROUPS, OPTION_NAMES, OPTIONS }) {
  const sections = Object.entries(GROUPS).map(([group, title]) => {
    const rows = OPTION_NAMES.filter((name) => OPTIONS[name].group === group).map((name) =>
      optionRow(name, OPTIONS[name], environmentVariable(name)),
    )
    return `## ${title}\n\n| option | value | default | environment | what it does |\n|---|---|---|---|---|\n${rows.join('\n')}\n`
  })
  return `# Configuration

<!-- Generated from src/config/options.ts by \`npm run docs\`. Do not edit. -->

Options are set by \`Tracker.configure({ … })\`, by \`Tracker.configure((config) => { … })\`, in \`faultboard.config.{ts,js,mjs}\`
for the command line, or by environment variables. Code wins over the environment, a flag of the command line over both.
A list is written with commas in the environment, a mapping as \`chat=low,email=high\`.

All problems are reported together in one \`ConfigurationError\`. The configuration is frozen once the tracker has started:
a change takes effect after a restart. Secrets are never shown on the settings page.

${sections.join('\n')}`
}

function optionRow(name, option, variable) {
  const { kind, text, secret } = option
  return tableRow([
    `\`${name}\``,
    kind.words,
    `\`${JSON.stringify(option.default)}\``,
    variable ? `\`${variable}\`` : 'code only',
    secret ? `${text} (secret)` : text,
  ])
}
