import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import { environmentVariable, GROUPS, type Group, type Row } from '../../../config/options.js'
import type { Context } from '../../../context.js'
import { dropCounts, recorderState } from '../../../health/health.js'
import { Dropped } from '../../../health/report.js'
import { filterText, id, optional } from '../../../model/input/input.js'
import * as r from '../../../model/result.js'
import { definePage, type Rendered, type Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { TIME_CHOICES } from '../../preferences.js'
import { Empty } from '../../ui/empty.js'
import { ApplicationField } from '../../ui/forms.js'
import { PageHead } from '../../ui/layout/page-head.js'
import { Setting, SettingRow } from './setting-row.js'

interface Settings {
  settings: Setting[]
  health: { state: Record<string, unknown>; dropped: Dropped[] }
}

export const settings = definePage({
  path: '/settings',
  text: 'Read-only view of the configuration',
  role: 'viewer',
  parameters: v.object({ application_id: optional(id()), filter: filterText({ max: 100 }) }),
  async load(context, { filter }): Promise<Settings> {
    const settings = Object.entries(context.optionTable).map(([name, row]) => describeOption(name, row, context))
    return {
      settings: settings.filter((setting) => matchesFilter(setting, filter)),
      health: await recorderHealth(context),
    }
  },
  title: () => 'Configuration',
  response: r.object({
    settings: r.list(Setting),
    health: r.object({ state: r.anyObject, dropped: r.list(Dropped) }),
  }),
  json: (data) => data,
  view: ({ settings }, visit, { filter }) => (
    <>
      <PageHead
        title="Configuration"
        context="Read-only. Configure in code or environment variables; restart to apply."
      >
        <TimePreference visit={visit} />
      </PageHead>
      <div class="settings" data-settings>
        <SettingIndex settings={settings} filter={filter} visit={visit} />
        <div class="stack">
          {settings.length === 0 && <NoMatches filter={filter ?? ''} visit={visit} />}
          {settingGroups(settings).map(([group, title, rows]) => (
            <section class="setting-group" id={group} aria-labelledby={`title-${group}`}>
              <h2 id={`title-${group}`}>{title}</h2>
              <SeeAlso group={group} visit={visit} />
              <dl>
                {rows.map((setting) => (
                  <SettingRow setting={setting} />
                ))}
              </dl>
            </section>
          ))}
        </div>
      </div>
    </>
  ),
})

/** Time zone of exact times. Days always follow `time_zone`. */
function TimePreference({ visit }: { visit: Visit }): Rendered {
  return (
    <form class="theme-switch" method="post" action={`${visit.base}/preferences`} aria-label="Exact times">
      <input type="hidden" name="return_to" value="/settings" />
      {TIME_CHOICES.map((zone) => (
        <button
          type="submit"
          name="times"
          value={zone}
          aria-pressed={String((zone === 'local') === visit.shows_local_time)}
        >
          {zone === 'local' ? 'Local time' : visit.time_zone}
        </button>
      ))}
    </form>
  )
}

function SettingIndex({
  settings,
  filter,
  visit,
}: {
  settings: readonly Setting[]
  filter: string | undefined
  visit: Visit
}): Rendered {
  const changed = settings.filter(({ is_default }) => !is_default).length
  return (
    <nav class="setting-index" aria-label="Setting groups">
      <form method="get" action={`${visit.base}/settings`}>
        <ApplicationField visit={visit} />
        <label>
          <span>Filter</span>
          <input type="search" name="filter" value={filter} maxlength={100} data-settings-filter />
        </label>
      </form>
      <ul>
        {settingGroups(settings).map(([group, title, rows]) => (
          <li>
            <a href={`#${group}`}>
              {title} <span class="count">{String(rows.length)}</span>
            </a>
          </li>
        ))}
      </ul>
      <p class="meta muted">{`${changed} of ${settings.length} changed from the default`}</p>
    </nav>
  )
}

/** Pages that show the effect of a group of settings. */
const SEE_ALSO: Partial<Record<Group, readonly [path: string, text: string]>> = {
  notifications: ['/notifications', 'Channels and delivery log'],
  jobs: ['/health', 'Job engine and failed jobs'],
}

function SeeAlso({ group, visit }: { group: Group; visit: Visit }): Rendered {
  const [path, text] = SEE_ALSO[group] ?? []
  if (!path) return null
  return (
    <p class="meta">
      <a href={href(visit, path)}>{text}</a>
    </p>
  )
}

function NoMatches({ filter, visit }: { filter: string; visit: Visit }): Rendered {
  return (
    <Empty title={`No settings match “${filter}”`}>
      <a href={href(visit, '/settings')}>Show all settings</a>
    </Empty>
  )
}

function settingGroups(settings: readonly Setting[]): [group: Group, title: string, rows: Setting[]][] {
  return (Object.entries(GROUPS) as [Group, string][])
    .map(([group, title]): [Group, string, Setting[]] => [
      group,
      title,
      settings.filter((setting) => setting.group === group),
    ])
    .filter(([, , rows]) => rows.length > 0)
}

function matchesFilter({ name, text, value }: Setting, filter: string | undefined): boolean {
  const query = filter?.toLowerCase() ?? ''
  return [name, text, value].some((part) => part.toLowerCase().includes(query))
}

function describeOption(name: string, row: Row<unknown>, context: Context): Setting {
  const config: Readonly<Record<string, unknown>> = context.config
  return {
    name,
    group: row.group,
    value: row.secret ? maskSecret(config[name]) : valueText(config[name]),
    is_default: isDeepStrictEqual(config[name], row.default),
    environment_variable: environmentVariable(name, row),
    text: row.text,
  }
}

/** Hides a secret and its length. */
function maskSecret(value: unknown): string {
  return value === null || value === undefined ? 'not set' : '••••••••'
}

function valueText(value: unknown): string {
  if (value === null) return 'not set'
  if (typeof value === 'function') return 'function'
  if (typeof value !== 'object') return String(value)
  return JSON.stringify(value, (_key, inner) =>
    inner instanceof RegExp || typeof inner === 'function' ? String(inner.source ?? inner.name) : inner,
  )
}

async function recorderHealth(context: Context): Promise<Settings['health']> {
  const { files, failed, bytes } = await context.spool.state()
  return {
    state: {
      database: context.database.dialect.address,
      ...recorderState(context),
      spooled_files: files,
      spooled_bytes: bytes,
      files_set_aside: failed,
    },
    dropped: dropCounts(context),
  }
}
