// @flow
import typeof X from './x';
export const y = (z: number): string => <></>;
