import { addHook } from '../../capture/hooks.js'
import { defineDiagnostic } from '../define.js'
import { LocalVariables } from './local-variables.js'
import { localVariableOptions } from './options.js'

/** Records the local variables where an error is thrown. */
export const variables = defineDiagnostic({
  name: 'local_variables',
  options: localVariableOptions,
  needs: ['enable_local_variables'],
  collect({ context }) {
    const variables = new LocalVariables(context)
    const removeHook = addHook(context.hooks.onSigned, {
      name: 'reading local variables',
      run(draft) {
        draft.local_variables = variables.take(draft.thrown, draft.hash_signature)
      },
    })
    variables.start()
    return () => {
      variables.stop()
      removeHook()
    }
  },
})
