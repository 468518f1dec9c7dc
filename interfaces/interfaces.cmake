# Generates ROS interfaces: of this project, and of the folders beside this file.

find_package(ament_cmake REQUIRED)
find_package(rosidl_default_generators REQUIRED)

# build_interfaces(PACKAGE...): all of msg/, srv/ and action/, which depend on these packages.
# A macro, because find_package and the generators set variables of the folder.
macro(build_interfaces)
  foreach(_package ${ARGN})
    find_package(${_package} REQUIRED)
  endforeach()

  # ROS packages from PyPI export include folders of the machine that built them, and CMake refuses folders that
  # do not exist. Drop those; on an ordinary ROS installation there are none, and this does nothing.
  get_directory_property(_imported_targets IMPORTED_TARGETS)
  foreach(_target IN LISTS _imported_targets)
    get_target_property(_folders ${_target} INTERFACE_INCLUDE_DIRECTORIES)
    if(_folders)
      set(_existing "")
      foreach(_folder IN LISTS _folders)
        if(NOT IS_ABSOLUTE "${_folder}" OR EXISTS "${_folder}")
          list(APPEND _existing "${_folder}")
        endif()
      endforeach()
      set_target_properties(${_target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_existing}")
    endif()
  endforeach()

  if(ROBOT_RT_CONTROL_DEVELOPMENT)
    # ./run has Fast DDS alone. From Python it asks for the introspection type supports in C, and complains on the
    # error output if there are none; nobody loads those in C++. Other middlewares do: a full installation builds them.
    list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX "^rosidl_typesupport_introspection_cpp")
  endif()

  file(GLOB _interfaces CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" msg/*.msg srv/*.srv action/*.action)
  rosidl_generate_interfaces(${PROJECT_NAME} ${_interfaces} DEPENDENCIES ${ARGN})

  # Each message is several files of a second each, most of it spent on the same headers: compiled together they take
  # half the time. Not the generated C messages and the introspection type supports: their static names collide.
  foreach(_part rosidl_generator_py
      rosidl_typesupport_c rosidl_typesupport_cpp rosidl_typesupport_fastrtps_c rosidl_typesupport_fastrtps_cpp)
    if(TARGET ${PROJECT_NAME}__${_part})
      set_target_properties(${PROJECT_NAME}__${_part} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 50)
    endif()
  endforeach()

  ament_export_dependencies(rosidl_default_runtime)
endmacro()
