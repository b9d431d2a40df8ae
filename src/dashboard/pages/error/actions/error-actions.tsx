import { MAX_SNOOZE_HOURS, PRIORITIES, STATUSES } from '../../../../model/workflow.js'
import { MAX_NAME_LENGTH, MAX_REFERENCE_LENGTH, MAX_TEXT_LENGTH } from '../../../../triage/commands/change-errors.js'
import { allows } from '../../../access.js'
import type { Rendered } from '../../../define.js'
import { capitalize, formatIdentifier } from '../../../ui/badges.js'
import { ActorNameField, ApplicationField, actorName, SelectField, TextArea, TextField } from '../../../ui/forms.js'
import { Initials, initialsOf } from '../../../ui/initials.js'
import { Menu, MoreLabel, SubMenu } from '../../../ui/menu.js'
import { occurrencesText } from '../error-facts.js'
import { ErrorForm, type ErrorProps, ListOriginFields } from './error-form.js'
import { MuteMenu } from './mute-menu.js'

/** Actions of the error page. Each menu is a form that works without JavaScript. */
export function ErrorActions({
  assignees,
  children,
  ...props
}: ErrorProps & { assignees: readonly string[]; children?: Rendered }): Rendered {
  if (!allows(props.visit, 'responder'))
    return (
      <div class="error-actions">
        <Menu label={<MoreLabel />} align="start" id="more">
          {children}
        </Menu>
      </div>
    )
  return (
    <div class="error-actions">
      {props.record.resolved ? <Reopen {...props} /> : <Resolve {...props} />}
      <Snooze {...props} />
      <Assign {...props} assignees={assignees} />
      <Menu label={<MoreLabel />} align="start" id="more">
        <Priority {...props} />
        <MuteMenu {...props} />
        <Status {...props} />
        {children}
        {allows(props.visit, 'admin') && <Delete {...props} />}
      </Menu>
    </div>
  )
}

/** Resolves with one click. The menu adds a note and a reference. */
function Resolve(props: ErrorProps) {
  return (
    <div class="split">
      <ErrorForm {...props} action="resolve">
        <input type="hidden" name="resolved_by_name" value={actorName(props.visit)} />
        <button type="submit" class="primary" data-key="e">
          Resolve
        </button>
      </ErrorForm>
      <Menu label={<span class="hidden">Resolve with a note</span>} primary align="start" id="resolve">
        <ErrorForm {...props} action="resolve">
          <TextArea name="resolution_comment" label="Resolution note (optional)" maxlength={MAX_TEXT_LENGTH} />
          <TextField
            name="resolution_reference"
            label="Commit, PR or ticket (optional)"
            maxlength={MAX_REFERENCE_LENGTH}
          />
          <ActorNameField name="resolved_by_name" visit={props.visit} />
          <button type="submit" class="primary">
            Resolve
          </button>
          <p class="meta muted">Reopens automatically if it occurs again.</p>
        </ErrorForm>
      </Menu>
    </div>
  )
}

function Reopen(props: ErrorProps) {
  return (
    <ErrorForm {...props} action="update_status">
      <input type="hidden" name="status" value="new" />
      <button type="submit">Reopen</button>
    </ErrorForm>
  )
}

/** Restores the previous status of an error that was just resolved. */
export function UndoResolve(props: ErrorProps): Rendered {
  const { action, from_value } = props.record.activities.at(-1) ?? {}
  const isResolution = action === 'resolved' && from_value && from_value !== action
  if (!isResolution || !allows(props.visit, 'responder')) return null
  return (
    <ErrorForm {...props} action="update_status">
      <input type="hidden" name="status" value={from_value} />
      <button type="submit" class="quiet">
        Undo
      </button>
    </ErrorForm>
  )
}

function Assign({ assignees, ...props }: ErrorProps & { assignees: readonly string[] }) {
  const { record, visit } = props
  const others = assignees.filter((name) => name !== visit.user && name !== record.assigned_to)
  return (
    <Menu label={<AssignLabel name={record.assigned_to} />} align="start" id="assign">
      <ErrorForm {...props} action="assign">
        <label>
          <span>Assignee</span>
          <input
            name="assigned_to"
            type="text"
            value={record.assigned_to ?? ''}
            data-filters="assignees"
            maxlength={MAX_NAME_LENGTH}
            autocomplete="off"
            required
          />
        </label>
        {/* The buttons follow the field, because the last value of a name wins. */}
        <div class="menu-row">
          <button type="submit" class="primary">
            Assign
          </button>
          {record.assigned_to !== visit.user && (
            <button type="submit" name="assigned_to" value={visit.user} formnovalidate>
              Assign to me
            </button>
          )}
        </div>
        {others.length > 0 && (
          <fieldset class="menu-list assignees" id="assignees" aria-label="Known names">
            {others.map((name) => (
              <button type="submit" class="quiet" name="assigned_to" value={name} formnovalidate>
                <span class="initials" aria-hidden="true">
                  {initialsOf(name)}
                </span>
                <bdi>{name}</bdi>
              </button>
            ))}
          </fieldset>
        )}
      </ErrorForm>
      {record.assigned_to && (
        <ErrorForm {...props} action="unassign">
          <button type="submit">Unassign</button>
        </ErrorForm>
      )}
    </Menu>
  )
}

function AssignLabel({ name }: { name: string | null }) {
  if (name === null) return 'Assign'
  return (
    <>
      <Initials name={name} />
      <bdi class="assign-name">{name}</bdi>
    </>
  )
}

function Priority(props: ErrorProps) {
  return (
    <SubMenu label="Priority">
      <ErrorForm {...props} action="update_priority">
        <div class="menu-list">
          {PRIORITIES.map((label, level) => (
            <button
              type="submit"
              class="quiet"
              name="priority_level"
              value={String(level)}
              aria-pressed={level === props.record.priority_level ? 'true' : 'false'}
            >
              {capitalize(label)}
            </button>
          ))}
        </div>
      </ErrorForm>
    </SubMenu>
  )
}

const DEFAULT_SNOOZE_HOURS = 24

const SNOOZE_PRESETS: readonly (readonly [hours: number, label: string])[] = [
  [1, '1 h'],
  [4, '4 h'],
  [24, '1 day'],
  [72, '3 days'],
  [168, '1 week'],
]

function Snooze(props: ErrorProps) {
  return (
    <Menu label="Snooze" align="start" id="snooze">
      <ErrorForm {...props} action="snooze">
        {/* Enter in the field triggers the first button of the form. */}
        <button type="submit" name="hours" value={String(DEFAULT_SNOOZE_HOURS)} hidden />
        <div class="menu-row presets">
          {SNOOZE_PRESETS.map(([hours, label]) => (
            <button type="submit" name="hours" value={String(hours)}>
              {label}
            </button>
          ))}
        </div>
      </ErrorForm>
      <SubMenu label="Custom…">
        <ErrorForm {...props} action="snooze">
          <TextField
            name="hours"
            label="Hours"
            type="number"
            min={1}
            max={MAX_SNOOZE_HOURS}
            value={String(DEFAULT_SNOOZE_HOURS)}
            required
          />
          <TextField name="reason" label="Reason (optional)" maxlength={MAX_TEXT_LENGTH} />
          <button type="submit" class="primary">
            Snooze
          </button>
        </ErrorForm>
      </SubMenu>
      {props.record.snoozed && (
        <ErrorForm {...props} action="unsnooze">
          <button type="submit">End snooze</button>
        </ErrorForm>
      )}
    </Menu>
  )
}

function Status(props: ErrorProps) {
  return (
    <SubMenu label="Status">
      <ErrorForm {...props} action="update_status">
        <SelectField
          name="status"
          label="Status"
          options={STATUSES.map((status) => [status, capitalize(formatIdentifier(status))] as const)}
          value={props.record.status}
        />
        <TextField name="comment" label="Comment (optional)" maxlength={MAX_TEXT_LENGTH} />
        <button type="submit" class="primary">
          Set status
        </button>
      </ErrorForm>
    </SubMenu>
  )
}

/** Deletes the error after a confirmation in the menu. */
function Delete({ record, visit }: ErrorProps) {
  const comments = record.comments.length
  return (
    <SubMenu label="Delete" isDangerous>
      <form method="post" action={`${visit.base}/errors/batch_action`}>
        <p>
          {`Delete this error with its ${occurrencesText(record.occurrence_count)}`}
          {comments > 0 && ` and ${comments} ${comments === 1 ? 'comment' : 'comments'}`}
          {'? This cannot be undone.'}
        </p>
        <input type="hidden" name="error_ids[]" value={String(record.id)} />
        <ApplicationField visit={visit} />
        <ListOriginFields visit={visit} />
        <button type="submit" name="action_type" value="delete" class="danger">
          Delete error
        </button>
      </form>
    </SubMenu>
  )
}
