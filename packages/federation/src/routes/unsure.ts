/** In the place of a version that a server may have to say again: no server has it. */
export const UNSURE = "may have been replaced";
