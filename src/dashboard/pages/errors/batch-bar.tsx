import { PRIORITIES, STATUSES } from '../../../model/workflow.js'
import { NAME_LIMIT, TEXT_LIMIT } from '../../../triage/commands/change-errors.js'
import type { Rendered, Visit } from '../../define.js'
import { words } from '../../ui/badges.js'
import { ApplicationField, SelectField, TextField } from '../../ui/forms.js'
import { Menu } from '../../ui/menu.js'
import { MUTES } from '../error/mute-menu.js'
import { capitalised } from './status-tabs.js'

export const BATCH_FORM = 'batch'

/** What can be done to all chosen rows at once, in one form; without script it is found under the list. */
export function BatchBar({
  visit,
  list_query,
  page,
  assignees,
  choose_all,
}: {
  visit: Visit
  /** The filters to come back to. */
  list_query: string
  page: number
  assignees: readonly string[]
  /** This list with all of its rows chosen. */
  choose_all: string
}): Rendered {
  return (
    <form id={BATCH_FORM} class="batch-form" method="post" action={`${visit.base}/errors/batch_action`}>
      {/* Enter in a field presses the first button of a form, which must not be one of those that act. */}
      <button type="submit" disabled hidden />
      <input type="hidden" name="list_query" value={list_query} />
      <input type="hidden" name="list_page" value={String(page)} />
      <ApplicationField visit={visit} />
      <details class="batch" data-batch>
        <summary>Act on the chosen</summary>
        <fieldset class="batch-bar">
          <legend class="hidden">Act on the chosen</legend>
          <output class="chosen" data-chosen-count />
          <noscript>
            <a href={choose_all}>Choose all on this page</a>
          </noscript>
          <Menu id="resolve" label="Resolve" primary align="start">
            <TextField name="resolved_by_name" label="Your name" value={visit.user} maxlength={NAME_LIMIT} />
            <TextField name="resolution_comment" label="What was it?" maxlength={TEXT_LIMIT} />
            <Act type="resolve" primary>
              Resolve the chosen
            </Act>
          </Menu>
          <Menu id="assign" label="Assign" align="start">
            <TextField name="assigned_to" label="To" list="assignees" maxlength={NAME_LIMIT} />
            <datalist id="assignees">
              {assignees.map((name) => (
                <option value={name} />
              ))}
            </datalist>
            <Act type="assign">Assign the chosen</Act>
            <Act type="unassign">Unassign the chosen</Act>
          </Menu>
          <Menu label="Status" align="start">
            <SelectField
              name="status"
              label="Status"
              options={STATUSES.map((status) => [status, capitalised(words(status))])}
              value="investigating"
            />
            <TextField name="comment" label="Comment" maxlength={TEXT_LIMIT} />
            <Act type="update_status">Set the status</Act>
          </Menu>
          <Menu label="Priority" align="start">
            <SelectField
              name="priority_level"
              label="Priority"
              options={PRIORITIES.map((word, level) => [String(level), capitalised(word)])}
              value="2"
            />
            <Act type="update_priority">Set the priority</Act>
          </Menu>
          <Menu id="snooze" label="Snooze" align="start">
            <SelectField name="hours" label="For" options={SNOOZES} value="24" />
            <TextField name="reason" label="Reason" maxlength={TEXT_LIMIT} />
            <Act type="snooze">Snooze the chosen</Act>
          </Menu>
          <Menu id="mute" label="Mute" align="start">
            <SelectField name="mute_hours" label="Send no messages" options={MUTES} value="24" />
            <TextField name="mute_reason" label="Why mute them?" maxlength={TEXT_LIMIT} />
            <Act type="mute">Mute the chosen</Act>
            <Act type="unmute">Unmute the chosen</Act>
          </Menu>
          <Menu label="Delete" align="start">
            <p class="warning">Deletes the chosen errors with all that was recorded of them. This cannot be undone.</p>
            <Act type="delete" danger>
              Delete the chosen
            </Act>
          </Menu>
          <button type="button" class="quiet" data-choose-none hidden>
            Clear
          </button>
        </fieldset>
      </details>
    </form>
  )
}

const SNOOZES = [
  ['1', '1 hour'],
  ['4', '4 hours'],
  ['24', '1 day'],
  ['72', '3 days'],
  ['168', '1 week'],
  ['720', '30 days'],
] as const

function Act({
  type,
  primary,
  danger,
  children,
}: {
  type: string
  primary?: boolean
  danger?: boolean
  children?: Rendered
}) {
  return (
    <button type="submit" name="action_type" value={type} class={primary ? 'primary' : danger ? 'danger' : undefined}>
      {children}
    </button>
  )
}
