import { NAME_LIMIT, TEXT_LIMIT } from '../../../triage/commands/change-errors.js'
import type { Rendered } from '../../define.js'
import { SelectField, TextField } from '../../ui/forms.js'
import { Menu } from '../../ui/menu.js'
import { ErrorForm, type ErrorProps } from './error-form.js'

/** Hours as the forms offer them; none at all is for as long as nobody ends it. */
export const MUTES = [
  ['1', 'for 1 hour'],
  ['8', 'for 8 hours'],
  ['24', 'for a day'],
  ['168', 'for a week'],
  ['', 'until unmuted'],
] as const

/** Sends no messages about an error for a while, or lets them be sent again. */
export function MuteMenu(props: ErrorProps): Rendered {
  const { muted } = props.record
  return (
    <Menu label={muted ? 'Muted' : 'Mute'} align="start" id="mute">
      <ErrorForm {...props} action="mute">
        <SelectField name="hours" label="Send no messages about it" options={MUTES} value="24" />
        <TextField name="reason" label="Why mute it?" maxlength={TEXT_LIMIT} />
        <TextField name="muted_by_name" label="Your name" value={props.visit.user} maxlength={NAME_LIMIT} />
        <button type="submit" class="primary">
          {muted ? 'Mute anew' : 'Mute'}
        </button>
        <p class="meta muted">It stays in the lists, and goes on counting.</p>
      </ErrorForm>
      {muted && (
        <ErrorForm {...props} action="unmute">
          <button type="submit">Unmute</button>
        </ErrorForm>
      )}
    </Menu>
  )
}
