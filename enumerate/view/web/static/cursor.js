// A frame above everything else around the square with the keyboard focus: its neighbours would cover its own outline.
// The listeners are on the holder of the board: an <svg> that listens to focus would itself be a Tab stop.
export function frameFocus(holder) {
  const frame = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  frame.setAttribute("class", "cursor");
  const follow = () => {
    const square = holder.querySelector(".square:focus-visible");
    frame.setAttribute("visibility", square ? "visible" : "hidden");
    if (!square) return;
    for (const name of ["x", "y", "width", "height"]) frame.setAttribute(name, square.getAttribute(name));
    square.ownerSVGElement.append(frame);
  };
  for (const name of ["focusin", "focusout", "keyup", "pointerup"]) holder.addEventListener(name, () => setTimeout(follow));
}
