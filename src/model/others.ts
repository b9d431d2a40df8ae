/** Stands for all that were too many to be told apart. */
export const OTHERS = '(others)'
