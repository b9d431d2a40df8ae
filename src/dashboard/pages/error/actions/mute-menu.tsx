import { MAX_TEXT_LENGTH } from '../../../../triage/commands/change-errors.js'
import type { Rendered } from '../../../define.js'
import { ActorNameField, actorName, SelectField, TextField } from '../../../ui/forms.js'
import { SubMenu } from '../../../ui/menu.js'
import { ErrorForm, type ErrorProps } from './error-form.js'

/** Durations in hours. An empty value mutes indefinitely. */
export const MUTE_DURATIONS = [
  ['1', '1 hour'],
  ['8', '8 hours'],
  ['24', '1 day'],
  ['168', '1 week'],
  ['', 'Until unmuted'],
] as const

/** Mutes or unmutes notifications about an error: one button, and a form for a duration and a reason. */
export function MuteMenu(props: ErrorProps): Rendered {
  const { muted } = props.record
  return (
    <>
      <div class="submenu menu-list">{muted ? <Unmute {...props} /> : <Mute {...props} />}</div>
      <SubMenu label={muted ? 'Change mute' : 'Mute for…'} id="mute">
        <ErrorForm {...props} action="mute">
          <SelectField name="hours" label="Mute notifications for" options={MUTE_DURATIONS} value="24" />
          <TextField name="reason" label="Reason (optional)" maxlength={MAX_TEXT_LENGTH} />
          <ActorNameField name="muted_by_name" visit={props.visit} />
          <button type="submit" class="primary">
            {muted ? 'Update mute' : 'Mute'}
          </button>
          <p class="meta muted">The error stays visible and keeps counting.</p>
        </ErrorForm>
      </SubMenu>
    </>
  )
}

function Mute(props: ErrorProps) {
  return (
    <ErrorForm {...props} action="mute">
      <input type="hidden" name="hours" value="" />
      <input type="hidden" name="muted_by_name" value={actorName(props.visit)} />
      <button type="submit" class="quiet">
        Mute notifications
      </button>
    </ErrorForm>
  )
}

function Unmute(props: ErrorProps) {
  return (
    <ErrorForm {...props} action="unmute">
      <button type="submit" class="quiet">
        Unmute notifications
      </button>
    </ErrorForm>
  )
}
