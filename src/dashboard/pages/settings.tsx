import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import {
  environmentVariable,
  GROUPS,
  type Group,
  OPTION_NAMES,
  type OptionName,
  optionRow,
} from '../../config/options.js'
import type { Context } from '../../context.js'
import { definePage } from '../define.js'

interface Setting {
  name: OptionName
  group: Group
  value: string
  is_default: boolean
  environment_variable: string | null
  text: string
  planned: boolean
}

interface Settings {
  settings: Setting[]
  health: Record<string, unknown>
}

/** The configuration as it is in force, read-only, and how the tracker itself is doing. */
export const settings = definePage({
  path: '/settings',
  text: 'Read-only view of the configuration',
  parameters: v.object({}),
  async load(context): Promise<Settings> {
    return { settings: OPTION_NAMES.map((name) => settingOf(name, context)), health: await healthOf(context) }
  },
  title: () => 'Settings',
  json: (data) => data,
  view: (data) => (
    <>
      <h1>Settings</h1>
      <p class="muted">
        Read-only: the configuration is set in code or by environment variables, and a change takes effect after a
        restart.
      </p>
      <section>
        <h2>Health of the tracker</h2>
        <pre class="data" tabindex={0}>
          {JSON.stringify(data.health, null, 2)}
        </pre>
      </section>
      {Object.entries(GROUPS).map(([group, title]) => (
        <section>
          <h2>{title}</h2>
          <table class="settings">
            <tbody>
              {data.settings
                .filter((setting) => setting.group === group)
                .map((setting) => (
                  <tr>
                    <th scope="row">
                      <code>{setting.name}</code>
                    </th>
                    <td>
                      <code class={setting.is_default ? 'muted' : undefined}>{setting.value}</code>
                    </td>
                    <td>
                      {setting.text}
                      {setting.planned && <em> Not in effect yet: the feature comes with a later release.</em>}
                      {setting.environment_variable && <p class="muted">{setting.environment_variable}</p>}
                    </td>
                  </tr>
                ))}
            </tbody>
          </table>
        </section>
      ))}
    </>
  ),
})

function settingOf(name: OptionName, { config }: Context): Setting {
  const row = optionRow(name)
  return {
    name,
    group: row.group,
    value: row.secret ? masked(config[name]) : valueText(config[name]),
    is_default: isDeepStrictEqual(config[name], row.default),
    environment_variable: environmentVariable(name),
    text: row.text,
    planned: row.planned === true,
  }
}

/** A secret is never shown, nor how long it is. */
function masked(value: unknown): string {
  return value === null || value === undefined ? 'not set' : '••••••••'
}

function valueText(value: unknown): string {
  if (value === null) return 'not set'
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'object') return String(value)
  return JSON.stringify(value, (_key, inner) =>
    inner instanceof RegExp || typeof inner === 'function' ? String(inner.source ?? inner.name) : inner,
  )
}

async function healthOf({ recorder, counters, spool, database }: Context): Promise<Record<string, unknown>> {
  const { files, bytes } = await spool.state()
  return {
    database: database.dialect.address,
    ...recorder.state,
    spooled_files: files,
    spooled_bytes: bytes,
    dropped_or_failed: counters.toJSON(),
  }
}
