/** Name of the combined row for everything beyond the limit on distinct names. */
export const OTHERS = '(others)'
