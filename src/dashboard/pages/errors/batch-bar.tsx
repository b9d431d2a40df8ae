import type { Pagination } from '../../../model/result.js'
import { PRIORITIES, STATUSES } from '../../../model/workflow.js'
import { MAX_NAME_LENGTH, MAX_REFERENCE_LENGTH, MAX_TEXT_LENGTH } from '../../../triage/commands/change-errors.js'
import { allows } from '../../access.js'
import type { Rendered, Visit } from '../../define.js'
import { capitalize, formatIdentifier } from '../../ui/badges.js'
import { ActorNameField, ApplicationField, SelectField, TextField } from '../../ui/forms.js'
import { Menu, MoreLabel, SubMenu } from '../../ui/menu.js'
import { formatTotal } from '../../ui/pagination.js'
import { MUTE_DURATIONS } from '../error/actions/mute-menu.js'

export const BATCH_FORM = 'batch'

/** Bulk actions on the selected rows, in one form. Shown below the list without JavaScript. */
export function BatchBar({
  visit,
  list_query,
  pagination,
  assignees,
  select_all,
}: {
  visit: Visit
  /** Filters of the list, for the redirect and for actions on all matching errors. */
  list_query: string
  pagination: Pagination
  assignees: readonly string[]
  /** Link to this page with all rows selected. */
  select_all: string
}): Rendered {
  return (
    <form id={BATCH_FORM} class="batch-form" method="post" action={`${visit.base}/errors/batch_action`}>
      {/* Enter in a field triggers the first button of the form, which must not be an action. */}
      <button type="submit" disabled hidden />
      <input type="hidden" name="list_query" value={list_query} />
      <input type="hidden" name="list_page" value={String(pagination.page)} />
      <input type="hidden" name="listed_at" value={new Date(visit.now).toISOString()} />
      <ApplicationField visit={visit} />
      <details class="batch" data-batch>
        <summary>Bulk actions</summary>
        <fieldset class="batch-bar">
          <legend class="hidden">Bulk actions</legend>
          <output class="selected-count" data-selected-count />
          <noscript>
            <a href={select_all}>Select all on this page</a>
          </noscript>
          {pagination.total_pages > 1 && (
            <label class="check" data-select-matching>
              <input type="checkbox" name="selection" value="matching" autocomplete="off" />
              <span>{`Select all ${formatTotal(pagination)} matching`}</span>
            </label>
          )}
          <button type="button" class="quiet" data-clear-selection hidden>
            Clear
          </button>
          <Menu id="resolve" label="Resolve" primary align="start">
            <TextField name="resolution_comment" label="Resolution note (optional)" maxlength={MAX_TEXT_LENGTH} />
            <TextField
              name="resolution_reference"
              label="Commit, PR or ticket (optional)"
              maxlength={MAX_REFERENCE_LENGTH}
            />
            <ActorNameField name="resolved_by_name" visit={visit} />
            <SubmitButton type="resolve" primary>
              Resolve selected
            </SubmitButton>
          </Menu>
          <Menu id="assign" label="Assign" align="start">
            <TextField name="assigned_to" label="Assignee" list="assignees" maxlength={MAX_NAME_LENGTH} />
            <datalist id="assignees">
              {assignees.map((name) => (
                <option value={name} />
              ))}
            </datalist>
            <SubmitButton type="assign">Assign</SubmitButton>
            <SubmitButton type="unassign">Unassign</SubmitButton>
          </Menu>
          <Menu id="snooze" label="Snooze" align="start">
            <SelectField name="hours" label="For" options={SNOOZE_DURATIONS} value="24" />
            <TextField name="reason" label="Reason (optional)" maxlength={MAX_TEXT_LENGTH} />
            <SubmitButton type="snooze">Snooze selected</SubmitButton>
          </Menu>
          <Menu label={<MoreLabel />} align="start">
            <SubMenu label="Status">
              <SelectField
                name="status"
                label="Status"
                options={STATUSES.map((status) => [status, capitalize(formatIdentifier(status))])}
                value="investigating"
              />
              <TextField name="comment" label="Comment (optional)" maxlength={MAX_TEXT_LENGTH} />
              <SubmitButton type="update_status">Set status</SubmitButton>
            </SubMenu>
            <SubMenu label="Priority">
              <SelectField
                name="priority_level"
                label="Priority"
                options={PRIORITIES.map((label, level) => [String(level), capitalize(label)])}
                value="2"
              />
              <SubmitButton type="update_priority">Set priority</SubmitButton>
            </SubMenu>
            <SubMenu id="mute" label="Mute">
              <SelectField name="mute_hours" label="Mute notifications for" options={MUTE_DURATIONS} value="24" />
              <TextField name="mute_reason" label="Reason (optional)" maxlength={MAX_TEXT_LENGTH} />
              <SubmitButton type="mute">Mute selected</SubmitButton>
              <SubmitButton type="unmute">Unmute selected</SubmitButton>
            </SubMenu>
            {allows(visit, 'admin') && (
              <SubMenu label="Delete" isDangerous>
                <p class="warning">
                  Permanently deletes the selected errors and their occurrences. This cannot be undone.
                </p>
                <SubmitButton type="delete" danger>
                  Delete selected
                </SubmitButton>
              </SubMenu>
            )}
          </Menu>
        </fieldset>
      </details>
    </form>
  )
}

const SNOOZE_DURATIONS = [
  ['1', '1 hour'],
  ['4', '4 hours'],
  ['24', '1 day'],
  ['72', '3 days'],
  ['168', '1 week'],
  ['720', '30 days'],
] as const

function SubmitButton({
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
