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
import { meaningOf } from '../../model/drop-reasons.js'
import { words } from '../components/badges.js'
import { formatCount } from '../components/time.js'
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
  health: Health
}

interface Health {
  state: Record<string, unknown>
  /** What did not go the ordinary way since the process started, and what that means. */
  dropped: { reason: string; count: number; text: string }[]
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
        <HealthOfTracker health={data.health} />
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

function HealthOfTracker({ health }: { health: Health }) {
  return (
    <>
      <dl class="facts">
        {Object.entries(health.state).map(([name, value]) => (
          <>
            <dt>{words(name)}</dt>
            <dd>{value === null ? '–' : String(value)}</dd>
          </>
        ))}
      </dl>
      <h3>Left out or failed since this process started</h3>
      {health.dropped.length === 0 ? (
        <p class="empty">Nothing: every error was recorded in full.</p>
      ) : (
        <table class="settings">
          <tbody>
            {health.dropped.map(({ reason, count, text }) => (
              <tr>
                <th scope="row">
                  <code>{reason}</code>
                </th>
                <td>{formatCount(count)}</td>
                <td>{text}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  )
}

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

async function healthOf({ recorder, counters, spool, database }: Context): Promise<Health> {
  const { files, failed, bytes } = await spool.state()
  const { away_since, last_flush_at, ...state } = recorder.state
  return {
    state: {
      database: database.dialect.address,
      ...state,
      away_since: isoTime(away_since),
      last_flush_at: isoTime(last_flush_at),
      spooled_files: files,
      spooled_bytes: bytes,
      files_set_aside: failed,
    },
    dropped: Object.entries(counters.toJSON()).map(([reason, count]) => ({ reason, count, text: meaningOf(reason) })),
  }
}

function isoTime(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}
